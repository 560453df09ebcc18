// A halt ends what listens to it, as an AbortSignal does, at a fraction of the cost: a run and each of its model calls have one.

/** Why whatever a halt has ended did not finish. Made once: making an error costs as much as two messages. */
export const HALTED = new DOMException('This operation was aborted', 'AbortError');

/** What listens to a halt sees of it. */
export interface Halt {
  readonly isHalted: boolean;
  /** The same as a signal, made when it is first asked for. */
  readonly signal: AbortSignal;
  /** Calls the listener once, at the halt; at once if it has come. */
  listen(listener: () => void): void;
  leave(listener: () => void): void;
}

/** A halt that has not come yet. A second call of `halt` does nothing. */
export interface Halting extends Halt {
  halt(): void;
}

export function makeHalt(): Halting {
  return new OneHalt();
}

class OneHalt implements Halting {
  isHalted = false;
  #listeners: (() => void)[] | undefined;
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.isHalted) this.#controller.abort(HALTED);
    }
    return this.#controller.signal;
  }

  listen(listener: () => void): void {
    if (this.isHalted) listener();
    else if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  leave(listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at !== -1) this.#listeners!.splice(at, 1);
  }

  halt(): void {
    if (this.isHalted) return;
    this.isHalted = true;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    this.#controller?.abort(HALTED);
    for (const listener of listeners ?? []) listener();
  }
}
