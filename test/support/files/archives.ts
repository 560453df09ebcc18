// The content of an archive, by name: read by the test itself, so that no packer verifies itself.
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { list, type ReadEntry } from 'tar';

export type Entries = Readonly<Record<string, string>>;

/** The files of a tar.gz, with their content as UTF-8. */
export async function tarEntries(bytes: Uint8Array): Promise<Entries> {
  const entries: Record<string, string> = {};
  // The reader takes an archive of no files for none.
  if (gunzipSync(bytes).every((byte) => byte === 0)) return entries;
  const reading = list({
    strict: true,
    onReadEntry: (entry: ReadEntry) => {
      const chunks: Buffer[] = [];
      entry.on('data', (chunk) => chunks.push(chunk));
      entry.on('end', () => void (entries[entry.path] = Buffer.concat(chunks).toString()));
    },
  });
  await new Promise<void>((resolve, reject) => {
    reading.once('end', resolve);
    reading.once('error', reject);
    reading.end(Buffer.from(bytes));
  });
  return entries;
}

const END_OF_DIRECTORY = 0x06054b50;
const END_BYTES = 22;

/** The files of a zip of less than 4 GB without a comment, with their content as UTF-8. */
export function zipEntries(bytes: Uint8Array): Entries {
  const zip = Buffer.from(bytes);
  const end = zip.length - END_BYTES;
  if (zip.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Error('This is no zip.');
  const entries: Record<string, string> = {};
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, packed] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    const local = zip.readUInt32LE(at + 42);
    const data = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const content = zip.subarray(data, data + packed);
    const path = zip.toString('utf8', at + 46, at + 46 + name);
    entries[path] = (method === 0 ? content : inflateRawSync(content)).toString();
    at += 46 + name + extra + comment;
  }
  return entries;
}
