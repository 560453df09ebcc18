// The client of the cases of content: downloads into one buffer, so that what is measured is the server.
import { connect, type Socket } from 'node:net';

/** One kept connection. */
export interface Downloader {
  /** Downloads a path, and throws unless the reply is a 200 with so many bytes. */
  get(path: string, size: number): Promise<void>;
  close(): void;
}

/** The reply that is being read. */
interface Reading {
  head: string;
  /** Bytes of the body that have not arrived; undefined before the head has. */
  left: number | undefined;
  readonly size: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const BUFFER_BYTES = 262_144;
const END_OF_HEAD = '\r\n\r\n';

/** Connects to a server, an address such as `http://127.0.0.1:8080`. */
export async function openDownloader(url: string): Promise<Downloader> {
  const { hostname, port, host } = new URL(url);
  let reading: Reading | undefined;
  const fail = (error: Error): void => {
    reading?.reject(error);
    reading = undefined;
  };
  const take = (count: number, buffer: Uint8Array): boolean => {
    if (reading === undefined) return true;
    const rest = bodyIn(reading, buffer, count);
    if (rest instanceof Error) fail(rest);
    else if (reading.left !== undefined && (reading.left -= rest) === 0) {
      reading.resolve();
      reading = undefined;
    }
    return true;
  };
  const socket = await connected(hostname, Number(port), take);
  socket.on('error', fail).on('close', () => fail(new Error(`${url} closed the connection.`)));
  return {
    get: (path, size) =>
      new Promise((resolve, reject) => {
        reading = { head: '', left: undefined, size, resolve, reject };
        socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      }),
    close: () => void socket.destroy(),
  };
}

function connected(host: string, port: number, callback: (count: number, buffer: Uint8Array) => boolean) {
  return new Promise<Socket>((resolve, reject) => {
    const onread = { buffer: Buffer.allocUnsafe(BUFFER_BYTES), callback };
    const socket = connect({ host, port, onread, noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** How many of the bytes that have arrived belong to the body, or what is wrong with the reply. */
function bodyIn(reading: Reading, buffer: Uint8Array, count: number): number | Error {
  if (reading.left !== undefined) return count;
  const before = reading.head.length;
  reading.head += Buffer.from(buffer.buffer, buffer.byteOffset, count).toString('latin1');
  const end = reading.head.indexOf(END_OF_HEAD);
  if (end === -1) return 0;
  const head = reading.head.slice(0, end);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
  if (!head.startsWith('HTTP/1.1 200 ') || length !== reading.size) return new Error(`Not as expected: ${head}`);
  reading.left = length;
  return count - (end + END_OF_HEAD.length - before);
}
