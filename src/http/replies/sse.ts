// A server-sent event stream over one response: its headers, its writes, and what a slow reader costs.
import type { ServerResponse } from 'node:http';
import { pauseOf } from './backlog.ts';
import { writeHead } from './head.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  // Reverse proxies would buffer events.
  'X-Accel-Buffering': 'no',
};

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
