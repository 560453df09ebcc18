// Where a run's tools come from, in the order in which its model sees them.
import type { ToolPack } from '../loop/run.ts';
import { asking } from './asking.ts';
import { browserTools } from './browser.ts';
import { builtInTools } from './built-in.ts';
import { connectorTools } from './connectors.ts';
import { delegation } from './delegate.ts';
import { mcpTools } from './mcp-tools.ts';
import { skillTools } from './skills.ts';

export const PACKS: readonly ToolPack[] = [
  builtInTools,
  asking,
  delegation,
  skillTools,
  connectorTools,
  browserTools,
  mcpTools,
];
