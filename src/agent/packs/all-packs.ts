// Where a run's tools come from, in the order in which its model sees them.
import type { ToolPack } from '../run.ts';
import { builtInTools } from './built-in.ts';

export const PACKS: readonly ToolPack[] = [builtInTools];
