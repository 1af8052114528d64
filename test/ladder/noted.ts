// Where test files, and what runs beside them, note what they cost for the ladder's table of times.

import { appendFileSync } from 'node:fs';
import { env } from 'node:process';
import type { FileTime } from './times.ts';

const place = env['BALLAST_TIMES'];

/** Nobody asks for it outside of the ladder. */
export function note(time: FileTime): void {
  if (place !== undefined) appendFileSync(place, `${JSON.stringify(time)}\n`);
}
