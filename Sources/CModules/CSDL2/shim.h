#pragma once
// Programs have a main of their own (SDL_main.h renames it otherwise).
#define SDL_MAIN_HANDLED
// Intrinsics, which SDL's headers draw in for their users and Swift does not need.
#define SDL_DISABLE_IMMINTRIN_H
#define SDL_DISABLE_MMINTRIN_H
#define SDL_DISABLE_XMMINTRIN_H
#define SDL_DISABLE_EMMINTRIN_H
#define SDL_DISABLE_PMMINTRIN_H
#define SDL_DISABLE_MM3DNOW_H
#define SDL_DISABLE_ARM_NEON_H
#include <SDL.h>
#include <stdlib.h>
#include <unistd.h>

// SDL_SysWMinfo of SDL_syswm.h, without the headers of X11 that it draws in: their names are everybody's.
typedef struct {
    SDL_version version;
    int subsystem;
    union {
        struct {
            void *display;
            unsigned long window;
        } x11;
        Uint8 room[64];
    } info;
} CSDL2_window_information;
struct SDL_SysWMinfo;
extern DECLSPEC SDL_bool SDLCALL SDL_GetWindowWMInfo(SDL_Window *window, struct SDL_SysWMinfo *info);

static inline int CSDL2_no_message(void *display) {
    (void)display;
    return 0;
}

// Xlib ends the process when its server goes. With this it calls `lost(display, data)` on the thread that draws, and its calls
// fail from then on (XSetIOErrorExitHandler(3), libX11 1.7 and later). Does nothing where X11 is not used, or older.
static inline void CSDL2_outlive_x11(SDL_Window *window, void (*lost)(void *display, void *data), void *data) {
    CSDL2_window_information information;
    SDL_memset(&information, 0, sizeof information);
    SDL_VERSION(&information.version);
    if (!SDL_GetWindowWMInfo(window, (struct SDL_SysWMinfo *)&information)) return;
    if (information.subsystem != 2 /* SDL_SYSWM_X11 */) return;
    void *library = SDL_LoadObject("libX11.so.6"); // Is there already; stays.
    if (!library) return;
    void (*set_exit)(void *, void (*)(void *, void *), void *) =
        (void (*)(void *, void (*)(void *, void *), void *))SDL_LoadFunction(library, "XSetIOErrorExitHandler");
    void (*set_message)(int (*)(void *)) =
        (void (*)(int (*)(void *)))SDL_LoadFunction(library, "XSetIOErrorHandler");
    if (!set_exit || !set_message) return;
    set_message(CSDL2_no_message);
    set_exit(information.info.x11.display, lost, data);
}

static inline void CSDL2_leave(int status, void *unused) {
    (void)unused;
    _exit(status);
}

// Ends the process without what libraries do then: libGLX waits for Xlib's lock, which is never given back after a loss.
static inline void CSDL2_leave_x11_alone(void) { on_exit(CSDL2_leave, 0); }

// A macro of calls, which Swift does not see.
static const int CSDL2_WINDOWPOS_CENTERED = SDL_WINDOWPOS_CENTERED;

// Whether the picture would be drawn by the processor under the name of OpenGL (Mesa without a graphics card): slower than SDL's
// own drawing. Asked while the renderer's context is current.
static inline int CSDL2_opengl_is_software(void) {
    const unsigned char *(*get_string)(unsigned int) =
        (const unsigned char *(*)(unsigned int))SDL_GL_GetProcAddress("glGetString");
    const char *name = get_string ? (const char *)get_string(0x1F01 /* GL_RENDERER */) : 0;
    return name && (SDL_strstr(name, "llvmpipe") || SDL_strstr(name, "softpipe") || SDL_strstr(name, "Software Rasterizer"));
}
