/* Included before every file of the addon: binds it to the first versions of functions that have newer ones. */
#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#endif
#define BIND(name) __asm__(".symver " #name "," #name "@" FIRST)

BIND(dlclose);
BIND(dlerror);
BIND(dlopen);
BIND(dlsym);
BIND(exp);
BIND(log);
BIND(log2);
BIND(pow);
BIND(pthread_create);
BIND(pthread_join);
BIND(pthread_mutex_trylock);
BIND(pthread_mutexattr_destroy);
BIND(pthread_mutexattr_init);
BIND(pthread_mutexattr_settype);
BIND(pthread_once);
