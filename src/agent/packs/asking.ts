// The tools with which an agent turns to people: ask_user, for the run's own agent only, and report_insight.
import type { ToolPack } from '../loop/run.ts';
import { askUser } from '../tools/ask-user.ts';
import { makeReportInsight } from '../tools/report-insight.ts';

const ASKING = `Ask with ${askUser.name} only when you cannot go on sensibly, or a wrong guess would do harm: the answer may take long, or never come.`;

export const asking: ToolPack = async ({ brief, channel }) => {
  // A sub-agent works within one call of the agent that delegates, and waiting cannot cross a call.
  const mayAsk = brief.depth === 0;
  return {
    tools: [...(mayAsk ? [askUser] : []), makeReportInsight(channel)],
    notes: mayAsk ? [ASKING] : [],
    close: async () => undefined,
  };
};
