// The report_insight tool: tells people what they should know beside the answer (I3).
import { INSIGHT_PRIORITIES } from '../../domain/insight.ts';
import type { Channel } from '../port/signals.ts';
import type { ExecutedTool } from './tool.ts';
import { defineTool, failed, inputOf, succeeded, textOf } from './workspace-tool.ts';

const MAX_TITLE_CHARACTERS = 200;
const MAX_SUMMARY_CHARACTERS = 4_000;

/** A text as the journal and every reader of it can take it. */
const clean = (text: string) => text.replaceAll('\u0000', '\uFFFD').toWellFormed().trim();

/** Makes the tool of a run. The main thread keeps what it reports, once for each call. */
export function makeReportInsight(channel: Pick<Channel, 'request'>): ExecutedTool {
  return defineTool({
    name: 'report_insight',
    description:
      'Keeps a finding that somebody should see and decide on, apart from your answer: a risk, a mistake, a chance. Not for progress or results.',
    inputSchema: inputOf(
      {
        title: { type: 'string', minLength: 1, maxLength: MAX_TITLE_CHARACTERS, description: 'What it is, in a line.' },
        summary: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_SUMMARY_CHARACTERS,
          description: 'What you found, why it matters, and what could be done.',
        },
        priority: { type: 'string', enum: [...INSIGHT_PRIORITIES], description: '"normal" without it.' },
      },
      ['title', 'summary'],
    ),
    execute: async (input, { callId }) => {
      const title = clean(textOf(input, 'title')).replace(/\s+/g, ' ');
      const summary = clean(textOf(input, 'summary'));
      if (title === '' || summary === '') return failed('An insight needs a title and a summary.');
      const priority = INSIGHT_PRIORITIES.find((one) => one === input['priority']) ?? 'normal';
      const { insightId } = await channel.request('report_insight', { callId, title, summary, priority });
      return succeeded(`Kept as insight ${insightId}.`);
    },
  });
}
