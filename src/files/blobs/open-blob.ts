// A blob being read, wherever its bytes are.

/** Its bytes remain until it is closed, even when it is removed meanwhile. */
export interface OpenBlob {
  /** Bytes. */
  readonly size: number;
  /** Fills `bytes` from `start` on. Rejects when the blob has fewer. */
  read(bytes: Uint8Array, start: number): Promise<void>;
  close(): Promise<void>;
  /** Of one that may be downloaded elsewhere: makes an address where it is served so, for a few minutes. */
  address?(as: ServedAs): Promise<string>;
}

/** How a download is served. Values of headers. */
export interface ServedAs {
  readonly contentType: string;
  readonly disposition: string;
  readonly cacheControl: string;
}

/** One that is in memory. */
export function inMemory(whole: Buffer): OpenBlob {
  return {
    size: whole.length,
    read: async (bytes, start) => {
      if (whole.copy(bytes, 0, start) < bytes.length) throw endedEarly();
    },
    close: async () => undefined,
  };
}

/** All of one, which is closed. */
export async function wholeOf(blob: OpenBlob): Promise<Buffer> {
  try {
    const bytes = Buffer.allocUnsafeSlow(blob.size);
    await blob.read(bytes, 0);
    return bytes;
  } finally {
    await blob.close();
  }
}

export const endedEarly = () => new Error('A blob ended before its size.');
