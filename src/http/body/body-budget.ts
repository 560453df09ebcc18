// Limits how much memory all request bodies take together while they are read and held.
import { ErrandError } from '../../domain/errors.ts';

/** The bytes of one body. */
export interface BodyShare {
  /** Counts bytes before they are held. Throws `unavailable` when there is no room for them. */
  take(bytes: number): void;
  /** Versions all of it. */
  release(): void;
}

/** Opens the share of one body. `owner`: whose body it is. */
export type BodyBudget = (owner: string) => BodyShare;

/** The maximum of one owner; the rest is for others. */
const LARGEST_PART = 0.75;

/** Makes the budget. An owner's only body may have all of it. */
export function makeBodyBudget(limitBytes: () => number): BodyBudget {
  const taken = new Map<string, number>();
  let total = 0;

  function add(owner: string, bytes: number): void {
    const sum = (taken.get(owner) ?? 0) + bytes;
    total += bytes;
    if (sum === 0) taken.delete(owner);
    else taken.set(owner, sum);
  }

  return (owner) => {
    let own = 0;
    return {
      take: (bytes) => {
        const limit = limitBytes();
        const ofOwner = taken.get(owner) ?? 0;
        const isOnly = ofOwner === own;
        if (total + bytes > limit || (!isOnly && ofOwner + bytes > limit * LARGEST_PART))
          throw new ErrandError('unavailable', 'Too many large requests are being read. Try again in a moment.');
        own += bytes;
        add(owner, bytes);
      },
      release: () => {
        add(owner, -own);
        own = 0;
      },
    };
  };
}
