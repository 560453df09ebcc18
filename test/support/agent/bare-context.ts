// What a tool gets where there is a workspace, and nothing else.
import type { ToolContext } from '../../../src/agent/port/tool.ts';
import { ROOMY } from '../files/space.ts';

export const bareContext = (workspace: string): ToolContext => ({
  workspace,
  workspaceOwner: null,
  space: ROOMY,
  sandbox: null,
  skills: [],
  egress: [],
  readDocument: async () => null,
  callId: 'call',
  signal: new AbortController().signal,
});
