// The report_insight tool: reports to people what they should know apart from the answer (I3).
import { INSIGHT_PRIORITIES } from '../../domain/sessions/insight.ts';
import { storableText } from '../../domain/text-pieces.ts';
import type { Channel } from '../port/signals.ts';
import type { ExecutedTool } from '../port/tool.ts';
import { defineTool, failed, inputOf, succeeded, textOf } from './workspace-tool.ts';

const MAX_TITLE_CHARACTERS = 200;
const MAX_SUMMARY_CHARACTERS = 4_000;

/** A text that the journal and all of its readers can process. */
const clean = (text: string) => storableText(text).trim();

const DESCRIPTION =
  'Records a finding that a person should see and decide on, apart from your answer: a risk, a mistake, an opportunity. Do not use it for progress or results.';

const INPUT = inputOf(
  {
    title: { type: 'string', minLength: 1, maxLength: MAX_TITLE_CHARACTERS, description: 'What it is, in a line.' },
    summary: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_SUMMARY_CHARACTERS,
      description: 'What you found, why it matters, and what could be done.',
    },
    priority: { type: 'string', enum: [...INSIGHT_PRIORITIES], description: 'Default: "normal".' },
  },
  ['title', 'summary'],
);

/** Makes the tool of a run. The main thread stores what it reports, once for each call. */
export function makeReportInsight(channel: Pick<Channel, 'request'>): ExecutedTool {
  return defineTool({
    name: 'report_insight',
    description: DESCRIPTION,
    inputSchema: INPUT,
    readsOnly: true,
    execute: async (input, { callId }) => {
      const title = clean(textOf(input, 'title')).replace(/\s+/g, ' ');
      const summary = clean(textOf(input, 'summary'));
      if (title === '' || summary === '') return failed('An insight needs a title and a summary.');
      const priority = INSIGHT_PRIORITIES.find((one) => one === input['priority']) ?? 'normal';
      const { insightId } = await channel.request('report_insight', { callId, title, summary, priority });
      return succeeded(`Recorded as insight ${insightId}.`);
    },
  });
}
