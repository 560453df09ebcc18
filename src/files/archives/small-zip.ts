// Writes a small zip in memory, which costs less than streams: deflated entries, UTF-8 names, no times.
import { crc32, deflateRawSync } from 'node:zlib';

/** A file of a zip. `store`: without compression. */
export interface ZipEntry {
  readonly name: string;
  readonly bytes: Buffer;
  readonly store: boolean;
}

const VERSION = 20;
const BY_UNIX = 3 << 8;
const UTF8_NAME = 0x0800;
const [STORED, DEFLATED] = [0, 8];
/** 1 January 1980, the earliest that a zip can have, at midnight. */
const [DATE, TIME] = [0x0021, 0];
/** A regular file that its owner may write and everybody may read. */
const MODE = 0o100644;
const [LOCAL_HEAD, CENTRAL_HEAD, END] = [0x04034b50, 0x02014b50, 0x06054b50];
const [LOCAL_BYTES, CENTRAL_BYTES, END_BYTES] = [30, 46, 22];

/** The bytes of a zip with these entries, in their order: at most 65,535, which take less than 4 GB. */
export function smallZip(entries: readonly ZipEntry[], level: number): Buffer {
  const [parts, central]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const { name, bytes, store } of entries) {
    const nameBytes = Buffer.from(name);
    const data = store ? bytes : deflateRawSync(bytes, { level });
    const facts = factsOf({ bytes, data, store, nameBytes });
    const head = Buffer.alloc(LOCAL_BYTES);
    head.writeUInt32LE(LOCAL_HEAD, 0);
    facts.copy(head, 4);
    parts.push(head, nameBytes, data);
    central.push(centralHead(facts, offset), nameBytes);
    offset += LOCAL_BYTES + nameBytes.length + data.length;
  }
  const list = Buffer.concat(central);
  return Buffer.concat([...parts, list, endOf(entries.length, list.length, offset)]);
}

interface Packed {
  readonly bytes: Buffer;
  readonly data: Buffer;
  readonly store: boolean;
  readonly nameBytes: Buffer;
}

/** What both heads of an entry have, from the version it needs to the length of its name and that of nothing extra. */
function factsOf({ bytes, data, store, nameBytes }: Packed): Buffer {
  const facts = Buffer.alloc(26);
  const short = [VERSION, UTF8_NAME, store ? STORED : DEFLATED, TIME, DATE];
  for (const [i, value] of short.entries()) facts.writeUInt16LE(value, 2 * i);
  for (const [i, value] of [crc32(bytes), data.length, bytes.length].entries()) facts.writeUInt32LE(value, 10 + 4 * i);
  facts.writeUInt16LE(nameBytes.length, 22);
  return facts;
}

function centralHead(facts: Buffer, offset: number): Buffer {
  const head = Buffer.alloc(CENTRAL_BYTES);
  head.writeUInt32LE(CENTRAL_HEAD, 0);
  head.writeUInt16LE(BY_UNIX | VERSION, 4);
  facts.copy(head, 6);
  head.writeUInt32LE((MODE << 16) >>> 0, 38);
  head.writeUInt32LE(offset, 42);
  return head;
}

function endOf(count: number, centralBytes: number, offset: number): Buffer {
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(centralBytes, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
