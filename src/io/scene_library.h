/* The names a scene starts with: the parts of Lua's library that keep the sandbox's promises
 * (scene_sandbox.h), to which scene_language.h adds the words of scenes. */
#ifndef KILN_IO_SCENE_LIBRARY_H
#define KILN_IO_SCENE_LIBRARY_H

#include <lua5.4/lua.h>

/* Replaces the globals. A function for lua_pcall. */
int kiln_scene_library_open(lua_State *L);

#endif
