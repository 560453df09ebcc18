// What Ctrl-C leaves behind: the command ends, and the run that it watched continues.
import type { Context } from '../frame/context.ts';

/** Says so, with how to follow the run and how to stop it. Prints nothing unless the user has ended the command. */
export function showRunContinues({ call, out, signal }: Context, runId: string | null): void {
  if (!isByUser(signal)) return;
  if (runId === null) {
    out.hint(`Your message was sent, and its run continues in the daemon. Find it with: ${call} runs list`);
    return;
  }
  out.hint(`The run continues in the daemon. Follow it with: ${call} runs tail ${runId}`);
  out.hint(`Stop it with: ${call} runs stop ${runId}`);
}

/** False when a reader closed the pipe: then no one is interested. */
function isByUser({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason as { readonly exit?: string }).exit !== 'ok';
}
