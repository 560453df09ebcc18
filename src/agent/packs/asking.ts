// The tools with which an agent addresses people: ask_user, for the run's own agent only, and report_insight.
import type { ToolPack } from '../loop/run.ts';
import { askUser } from '../tools/ask-user.ts';
import { makeReportInsight } from '../tools/report-insight.ts';
import { nothingToClose } from '../port/tool.ts';

const ASKING = `Use ${askUser.name} only when you cannot continue sensibly, or a wrong guess would do harm: the answer may take long, or never come.`;

export const asking: ToolPack = ({ brief, channel }) => {
  // A sub-agent works within one call of the agent that delegates, and a call can't wait for the user.
  const mayAsk = brief.depth === 0;
  return {
    tools: [...(mayAsk ? [askUser] : []), makeReportInsight(channel)],
    notes: mayAsk ? [ASKING] : [],
    close: nothingToClose,
  };
};
