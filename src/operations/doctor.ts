// What an examination of the whole installation finds, as types.

/** `warning`: works, and needs someone; `skipped`: could not be examined, or does not apply. */
export type FindingState = 'ok' | 'warning' | 'failed' | 'skipped';

/** One check and what it found. */
export interface Finding {
  /** Stable, such as `public_url`. */
  readonly id: string;
  /** What was examined, for people. */
  readonly title: string;
  readonly state: FindingState;
  /** What was seen: figures, paths, the words of a system. Contains no secret. */
  readonly evidence: string;
  /** The command, or the words, that mends it; null where there is nothing to mend. */
  readonly remedy: string | null;
}

export interface ExaminationRequest {
  /** Also list what agents and the daemon can reach, and try it. */
  readonly egress: boolean;
  /** Examine large databases and all blobs, however long that takes. */
  readonly full: boolean;
}

/** Examines the installation. */
export interface Doctor {
  /** The findings in the order of the checks. Never rejects because of what it finds; throws `conflict` while it examines. */
  examine(request: ExaminationRequest, signal: AbortSignal): Promise<readonly Finding[]>;
}
