// Many clients that want as much as they can get: each sends its requests over and over, one connection a request, and reads replies
// without parsing them, so that it takes little of the machine. Forked with a channel: the first message is a `FloodPlan`, a second one
// ends it, and a `FloodReport` is the answer to that. It ends with its parent.
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A request, by the kind under which its replies are counted. */
export interface FloodRequest {
  readonly kind: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly key?: string;
  readonly body?: string;
}

/** One client at a time has one connection. `requests`: places in those of the plan. */
export interface FloodClient {
  readonly address: string;
  readonly requests: readonly number[];
}

export interface FloodPlan {
  readonly port: number;
  readonly requests: readonly FloodRequest[];
  readonly clients: readonly FloodClient[];
}

/** How often each status came for each kind; 0 for a connection that ended without one. */
export interface FloodReport {
  readonly statuses: Readonly<Record<string, Readonly<Record<number, number>>>>;
  /** The words of refusals. */
  readonly words: readonly string[];
  readonly megabytes: number;
}

/** A refused client asks again after so long. */
const REFUSED_MS = 50;
const BUFFER_BYTES = 65_536;
const STATUS = /^HTTP\/1\.1 (\d{3})/;
const WORDS = /"message":"([^"]*)"/;
/** Enough for the status and the words of an error. */
const HEAD_BYTES = 2_048;

const sockets = new Set<ReturnType<typeof connect>>();
const statuses: Record<string, Record<number, number>> = {};
const words = new Set<string>();
let [bytes, isOver] = [0, false];

/** What is sent for a request. */
function wireOf({ method, path, key, body }: FloodRequest): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: errand.example',
    'connection: close',
    ...(key === undefined ? [] : [`authorization: Bearer ${key}`]),
    ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

/** Returns the beginning of the reply once all of it has come. */
function ask(port: number, localAddress: string, wire: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let head = '';
    const take = (length: number, buffer: Uint8Array): boolean => {
      if (head.length < HEAD_BYTES) head += Buffer.from(buffer.subarray(0, length)).toString('latin1', 0, HEAD_BYTES);
      bytes += length;
      return true;
    };
    const onread = { buffer: Buffer.allocUnsafe(BUFFER_BYTES), callback: take };
    const socket = connect({ host: '127.0.0.1', port, localAddress, onread });
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      resolve(head);
    });
    socket.write(wire);
  });
}

async function flood({ port, requests, clients }: FloodPlan): Promise<void> {
  const wires = requests.map(wireOf);
  async function send(address: string, place: number): Promise<void> {
    const head = await ask(port, address, wires[place]!);
    if (isOver) return;
    const status = Number(STATUS.exec(head)?.[1] ?? 0);
    const ofKind = (statuses[requests[place]!.kind] ??= {});
    ofKind[status] = (ofKind[status] ?? 0) + 1;
    if (status >= 200 && status < 300) return;
    const said = WORDS.exec(head)?.[1];
    if (said !== undefined) words.add(said);
    await pause(REFUSED_MS);
  }
  await Promise.all(
    clients.map(async ({ address, requests: own }) => {
      for (let turn = 0; !isOver; turn += 1) await send(address, own[turn % own.length]!);
    }),
  );
}

process.once('message', (plan: FloodPlan) => {
  const flooding = flood(plan);
  process.once('message', () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
    void flooding.then(() => {
      process.send!({ statuses, words: [...words], megabytes: bytes / 1_048_576 } satisfies FloodReport);
    });
  });
});
process.once('disconnect', () => process.exit());
