// Whether a target names someone who can answer.
import type { Definitions } from '../../catalog/definitions.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import { parseTarget } from '../../domain/capabilities/target.ts';
import { unprocessable } from '../../domain/errors.ts';

export interface TargetParts {
  definitions(): Pick<Definitions, 'experts' | 'teams'>;
  readonly lookUp: LookUp;
}

/** Throws `unprocessable` unless the target is `free`, or names an expert or an expert team that is defined. */
export async function checkTarget(target: string, { definitions, lookUp }: TargetParts): Promise<void> {
  const parsed = parseTarget(target);
  if (parsed === null) throw unprocessable('target', 'must be free, expert:NAME or team:NAME');
  if (parsed.kind === 'free') return;
  const known = () => (parsed.kind === 'expert' ? definitions().experts : definitions().teams);
  if (await lookUp(() => known().has(parsed.name))) return;
  const names = [...known().keys()].join(', ') || 'there are none';
  throw unprocessable('target', `must name an expert${parsed.kind === 'team' ? ' team' : ''} (${names})`);
}
