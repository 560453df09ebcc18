// A bucket, and what was wrong with it the last time.
import type { Bucket } from './bucket.ts';
import { S3Error } from './s3-error.ts';

export interface WatchedBucket extends Bucket {
  /** Why the last request failed, for administrators; null when it succeeded, or there was none. */
  fault(): string | null;
}

/** Wraps it. A blob that isn't there is no fault. */
export function watchBucket(bucket: Bucket): WatchedBucket {
  let fault: string | null = null;
  const watched =
    <Args extends readonly unknown[], Result>(verb: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        const result = await verb(...args);
        fault = null;
        return result;
      } catch (error) {
        if (error instanceof S3Error && error.code !== 'NoSuchKey') fault = error.message;
        throw error;
      }
    };
  return {
    ...bucket,
    put: watched(bucket.put),
    get: watched(bucket.get),
    sizeOf: watched(bucket.sizeOf),
    remove: watched(bucket.remove),
    fault: () => fault,
  };
}
