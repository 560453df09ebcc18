// A server-sent event stream over one response: its headers, its writes, and what a slow reader costs.
import type { ServerResponse } from 'node:http';
import { writeHead } from './head.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  // Reverse proxies would buffer events.
  'X-Accel-Buffering': 'no',
};

/** Bytes that may wait for a slow reader before it is paused. */
const PAUSE_AT_BYTES = 256 * 1024;

export interface EventStream {
  /** Writes complete events. Returns a promise when the reader is behind: write again once it resolves. */
  send(frames: Buffer): Promise<void> | undefined;
  /** Sends the headers now, unless an event has already sent them. */
  flush(): void;
  /** Ends the stream, with a last event if one is given. */
  end(frame?: Buffer): void;
  /** Disconnects the reader immediately. */
  drop(): void;
}

/** Writes the head of a stream. Nothing may have been written to the response; headers may have been set. */
export function beginEventStream(res: ServerResponse): void {
  res.socket?.setNoDelay(true);
  writeHead(res, 200, HEADERS);
}

/** Begins a stream, as above. */
export function openEventStream(res: ServerResponse): EventStream {
  beginEventStream(res);
  let written = false;
  return {
    send: (frames) => {
      if (res.destroyed || res.writableEnded) return undefined;
      written = true;
      res.write(frames);
      return pauseOf(res);
    },
    flush: () => {
      if (!written) res.flushHeaders();
    },
    end: (frame) => void res.end(frame),
    drop: () => void res.destroy(),
  };
}

/** What to wait for before sending more to a reader; undefined when it is not behind. */
export function pauseOf(res: ServerResponse): Promise<void> | undefined {
  return res.writableLength > PAUSE_AT_BYTES ? drained(res) : undefined;
}

/** Resolves when the backlog has been sent, or the reader has disconnected. */
function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      res.off('drain', settle);
      res.off('close', settle);
      resolve();
    };
    res.on('drain', settle);
    res.on('close', settle);
  });
}
