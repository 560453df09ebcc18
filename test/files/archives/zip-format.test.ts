// The records of a zip beyond the limits of 16 and 32 bits.
import { describe, expect, test } from 'vitest';
import {
  dataDescriptor,
  directoryHeader,
  endOfDirectory,
  localHeader,
} from '../../../src/files/archives/zip-format.ts';

const LARGE = 5_000_000_000;
const entry = { name: 'ä', isDeflated: true, isStreamed: true, crc: 7, packedSize: LARGE - 1, size: LARGE, offset: 3 };

describe('beyond 32 bits', () => {
  test('a large entry has its sizes in fields of 64 bits, before and after its bytes and in the directory', () => {
    const local = localHeader(entry);
    // Version 4.5; both sizes are elsewhere; the name has two bytes, the extra field 20.
    expect([local.readUInt16LE(4), local.readUInt32LE(18), local.readUInt32LE(22)]).toEqual([
      45,
      2 ** 32 - 1,
      2 ** 32 - 1,
    ]);
    expect([local.readUInt16LE(26), local.readUInt16LE(28), local.length]).toEqual([2, 20, 30 + 2 + 20]);
    const after = dataDescriptor(entry);
    expect([after.readUInt32LE(4), after.readBigUInt64LE(8), after.readBigUInt64LE(16)]).toEqual([
      7,
      BigInt(LARGE - 1),
      BigInt(LARGE),
    ]);
    const line = directoryHeader(entry);
    expect([line.readUInt32LE(20), line.readUInt32LE(24), line.readUInt32LE(42)]).toEqual([
      2 ** 32 - 1,
      2 ** 32 - 1,
      3,
    ]);
    expect([line.readBigUInt64LE(52), line.readBigUInt64LE(60)]).toEqual([BigInt(LARGE), BigInt(LARGE - 1)]);
  });

  test('a small entry that begins late has its place alone in such a field', () => {
    const line = directoryHeader({ ...entry, isStreamed: false, packedSize: 5, size: 6, offset: LARGE });
    expect([line.readUInt32LE(20), line.readUInt32LE(24), line.readUInt32LE(42)]).toEqual([5, 6, 2 ** 32 - 1]);
    expect([line.readUInt16LE(48), line.readUInt16LE(50), line.readBigUInt64LE(52)]).toEqual([1, 8, BigInt(LARGE)]);
  });

  test.each([
    ['65,535 entries', { count: 65_535, size: 10, offset: 20 }],
    ['a directory that begins late', { count: 1, size: 10, offset: LARGE }],
  ])('an archive of %s has an end with 64 bits before the old one', (_what, of) => {
    const end = endOfDirectory(of);
    expect(end).toHaveLength(56 + 20 + 22);
    expect([end.readBigUInt64LE(32), end.readBigUInt64LE(48)]).toEqual([BigInt(of.count), BigInt(of.offset)]);
    expect([end.readUInt32LE(56), end.readBigUInt64LE(64)]).toEqual([0x07_06_4b_50, BigInt(of.offset + of.size)]);
    expect(end.readUInt16LE(76 + 10)).toBe(Math.min(of.count, 65_535));
  });

  test('an ordinary archive has the old end alone', () => {
    expect(endOfDirectory({ count: 65_534, size: 10, offset: 20 })).toHaveLength(22);
  });
});
