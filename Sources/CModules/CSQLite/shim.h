#pragma once
#include <sqlite3.h>

// Swift cannot see a cast of -1 to a function pointer: SQLite copies the bytes during the call.
static inline int CSQLite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
static inline int CSQLite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}
