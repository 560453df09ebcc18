// Reads which versions of the C libraries a program or an addon requires.
import { readFileSync } from 'node:fs';
import { GLIBC_FLOOR, GLIBCXX_FLOOR } from './targets.ts';

/** Section type of the required versions. */
const VERNEED = 0x6ffffffe;

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly link: number;
  /** Of a `VERNEED` section: how many libraries it lists. */
  readonly info: number;
}

/** Such as `GLIBC_2.28`, for each library and version. Throws for what isn't a 64-bit little-endian ELF file. */
export function requiredVersions(file: string): readonly string[] {
  const bytes = readFileSync(file);
  if (bytes.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') throw new Error(`${file} is no 64-bit ELF file.`);
  const sections = sectionsOf(bytes);
  const needed = sections.find(({ type }) => type === VERNEED);
  if (needed === undefined) return [];
  const names = sections[needed.link]!.offset;
  const found: string[] = [];
  let library = needed.offset;
  for (let count = 0; count < needed.info; count += 1) {
    let version = library + bytes.readUInt32LE(library + 8);
    for (let left = bytes.readUInt16LE(library + 2); left > 0; left -= 1) {
      found.push(textAt(bytes, names + bytes.readUInt32LE(version + 8)));
      version += bytes.readUInt32LE(version + 12);
    }
    library += bytes.readUInt32LE(library + 12);
  }
  return found;
}

/** The newest version of a library among those required, such as `2.28` for `GLIBC`; undefined if there is none. */
export function newestOf(library: string, versions: readonly string[]): string | undefined {
  const own = versions.filter((version) => version.startsWith(`${library}_`)).map((version) => version.split('_')[1]!);
  return own.sort(compareVersions).at(-1);
}

/**
 * The oldest glibc that has what all these files require. Throws when that is newer than promised, unless the package makes no
 * promise (`isPromised` is false).
 */
export function requireFloor(files: readonly string[], isPromised: boolean): string {
  let floor = GLIBC_FLOOR;
  for (const file of files) {
    const versions = requiredVersions(file);
    const c = newestOf('GLIBC', versions) ?? '0';
    const cxx = newestOf('GLIBCXX', versions) ?? '0';
    if (isPromised && (compareVersions(c, GLIBC_FLOOR) > 0 || compareVersions(cxx, GLIBCXX_FLOOR) > 0)) {
      throw new Error(
        `${file} requires glibc ${c} and libstdc++ ${cxx}, newer than ${GLIBC_FLOOR} and ${GLIBCXX_FLOOR}.`,
      );
    }
    if (compareVersions(c, floor) > 0) floor = c;
  }
  return floor;
}

/** Negative when the first is older. */
export function compareVersions(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

function sectionsOf(bytes: Buffer): readonly Section[] {
  const start = Number(bytes.readBigUInt64LE(0x28));
  const size = bytes.readUInt16LE(0x3a);
  return Array.from({ length: bytes.readUInt16LE(0x3c) }, (_, index) => {
    const at = start + index * size;
    return {
      type: bytes.readUInt32LE(at + 4),
      offset: Number(bytes.readBigUInt64LE(at + 0x18)),
      link: bytes.readUInt32LE(at + 0x28),
      info: bytes.readUInt32LE(at + 0x2c),
    };
  });
}

function textAt(bytes: Buffer, start: number): string {
  return bytes.toString('latin1', start, bytes.indexOf(0, start));
}
