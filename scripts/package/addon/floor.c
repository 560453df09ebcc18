/* What old systems lack, in place of the libraries' functions (see --wrap in addon.ts). The kernel's struct is theirs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int __wrap_stat64(const char *path, void *status) { return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0); }

int __wrap_lstat64(const char *path, void *status) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int __wrap_fstat64(int file, void *status) { return (int)syscall(SYS_fstat, file, status); }

/* Called for an array that is larger than memory can be. The addon has no exceptions, so it would end the process. */
__attribute__((visibility("hidden"))) void _ZSt28__throw_bad_array_new_lengthv(void) { abort(); }
