// What packages are made for, and where their parts come from.

export type Architecture = 'x64' | 'arm64';

export interface Target {
  readonly architecture: Architecture;
  /** As Debian names it. */
  readonly debian: string;
  /** Before `gcc` and `g++` in the names of the compilers that make code for it; empty for those of the same machine. */
  readonly compilers: string;
}

export const TARGETS: Readonly<Record<Architecture, Target>> = {
  x64: { architecture: 'x64', debian: 'amd64', compilers: process.arch === 'x64' ? '' : 'x86_64-linux-gnu-' },
  arm64: { architecture: 'arm64', debian: 'arm64', compilers: process.arch === 'arm64' ? '' : 'aarch64-linux-gnu-' },
};

/** The oldest C library that is promised: that of RHEL 8. Debian 11 and Ubuntu 20.04 have 2.31. */
export const GLIBC_FLOOR = '2.28';

/** The newest symbols of the C++ library that these three have. */
export const GLIBCXX_FLOOR = '3.4.25';

export function isArchitecture(name: string): name is Architecture {
  return Object.hasOwn(TARGETS, name);
}
