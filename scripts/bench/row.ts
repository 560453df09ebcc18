// A line of the report's table.

/** It shows the figure with this key. */
export interface Row {
  readonly key: string;
  readonly label: string;
  readonly digits: number;
}
