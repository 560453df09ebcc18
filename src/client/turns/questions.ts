// The client's verbs on what agents ask and report.
import type { InsightStatus } from '../../domain/sessions/insight.ts';
import type { JsonValue } from '../../domain/json.ts';
import { insights, type InsightWire } from '../../wire/sessions/insight.ts';
import { questions, type QuestionWire } from '../../wire/sessions/question.ts';
import type { CallManagement } from '../references.ts';
import { type Complete, type Verbs, verbsOf } from '../verbs.ts';

export interface Inputs extends Pick<Verbs<typeof questions>, 'list' | 'get' | 'expire'> {
  answer(id: string, answers: JsonValue): Promise<QuestionWire>;
}

export interface Insights extends Omit<Verbs<typeof insights>, 'setStatus'> {
  setStatus(id: string, status: InsightStatus): Promise<InsightWire>;
}

export function makeInputs(call: CallManagement, complete: Complete): Inputs {
  const verbs = verbsOf(questions, call, complete);
  return { ...verbs, answer: async (id, answers) => verbs.answer(id, { answers }) };
}

export function makeInsights(call: CallManagement, complete: Complete): Insights {
  const verbs = verbsOf(insights, call, complete);
  return { ...verbs, setStatus: async (id, status) => verbs.setStatus(id, { status }) };
}
