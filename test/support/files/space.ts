// Room on the disk for tests that are not about it.
import type { SpaceLimits } from '../../../src/disk/disk-space.ts';

export const ROOMY: SpaceLimits = { quotaBytes: 2 ** 40, keepFreeBytes: 0 };
