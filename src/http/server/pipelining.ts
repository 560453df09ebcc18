// Pipelined requests: a client may send several before it has the first reply. Each is begun when its reply can be sent.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of a connection that wait. A client that sends more ahead is disconnected. */
const MAX_WAITING = 64;

/** Begins a request in its turn; not at all when its connection is closed before. */
export type InTurn = (req: IncomingMessage, res: ServerResponse, begin: () => void) => void;

/**
 * Makes it. Node begins all requests of a connection as they arrive: each would hold its file open, and what it read of it, until the
 * client has taken all replies before it.
 */
export function makeInTurn(): InTurn {
  const waiting = new WeakMap<Socket, number>();
  return (req, res, begin) => {
    // Node gives a response its connection when the one before it has ended.
    if (res.socket !== null) return begin();
    const { socket } = req;
    const ahead = waiting.get(socket) ?? 0;
    if (ahead >= MAX_WAITING) return void socket.destroy();
    waiting.set(socket, ahead + 1);
    res.once('socket', () => {
      waiting.set(socket, waiting.get(socket)! - 1);
      begin();
    });
  };
}
