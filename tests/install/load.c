/* Program that is not linked to libmxc but loads it while running, as bindings of other languages do. load.c PATH */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *(*version)(void);
    if (library == NULL) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: load PATH");
        return 1;
    }
    *(void **)&version = dlsym(library, "mxc_version");
    printf("libmxc %s\n", version != NULL ? version() : "without mxc_version");
    return version == NULL || dlclose(library) != 0;
}
