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
