// The files that take longest are there under the names by which they are put first.
import { access } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { LONG } from '../../../vitest.config.ts';

const TESTS = new URL('../../', import.meta.url).pathname;

test.each(LONG)('%s is a file', async (name: string) => {
  await expect(access(`${TESTS}${name}`)).resolves.toBeUndefined();
});
