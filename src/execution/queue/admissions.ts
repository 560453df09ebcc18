// Turns that are being accepted, each with a slot kept for its run where one is free.
import type { Acceptance } from '../../store/lifecycle/accept-run.ts';
import type { Claim, StartInput } from '../../store/lifecycle/start-run.ts';

export interface Admissions {
  /** Has a turn accepted, then begins its run, or wakes the queue when it didn't start. */
  admit(accept: (start: StartInput | null) => Promise<Acceptance>): Promise<Acceptance>;
  /** Slots that are kept. */
  kept(): number;
  /** Resolves when the runs of the turns that are being accepted have begun, or are queued. */
  settled(): Promise<void>;
}

export interface AdmissionParts {
  /** How runs start here now. */
  startInput(): StartInput;
  /** Whether a run may start now. */
  slotFree(): boolean;
  /** Executes a run that was claimed. */
  begin(claim: Claim): void;
  wake(): void;
}

export function makeAdmissions({ slotFree, startInput, begin, wake }: AdmissionParts): Admissions {
  const admissions = new Set<Promise<unknown>>();
  let kept = 0;

  async function admit(accept: Parameters<Admissions['admit']>[0]): Promise<Acceptance> {
    const slots = slotFree() ? 1 : 0;
    kept += slots;
    let claim: Claim | null = null;
    try {
      const acceptance = await accept(slots === 1 ? startInput() : null);
      if (acceptance.kind === 'accepted') claim = acceptance.claim;
      return acceptance;
    } finally {
      // In one step: in between, the slot would be counted twice or not at all.
      kept -= slots;
      if (claim === null) wake();
      else begin(claim);
    }
  }

  return {
    admit: (accept) => {
      const admission = admit(accept).finally(() => admissions.delete(admission));
      admissions.add(admission);
      return admission;
    },
    kept: () => kept,
    settled: async () => void (await Promise.allSettled(admissions)),
  };
}
