// What Ctrl-C leaves behind: the command ends, and the run that it watched does not.
import type { Context } from '../frame/context.ts';

/** Says so, and how to look at the run and how to stop it. Says nothing unless the user has ended the command. */
export function tellGoesOn({ call, out, signal }: Context, runId: string | null): void {
  if (!isUsersWish(signal)) return;
  if (runId === null) {
    out.hint(`What was sent goes on in the daemon. Find it with: ${call} runs list`);
    return;
  }
  out.hint(`The run goes on in the daemon. Look with: ${call} runs tail ${runId}`);
  out.hint(`Stop it with: ${call} runs stop ${runId}`);
}

/** A reader that closed the pipe is no wish of the user, and has nobody to tell. */
function isUsersWish({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason as { readonly exit?: string }).exit !== 'ok';
}
