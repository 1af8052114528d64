// The settings of every function about its senders.
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { functionNames } from '../../../knative/tools/build/function-names.ts';
import { readConfig } from '../../../shared/function/config.ts';
import { definitionIn } from '../../../shared/function/define.ts';
import { runtimeShape } from '../../../shared/function/runtime-config.ts';
import { senderProblems } from '../../../shared/function/senders/senders.ts';

const functions = resolve(import.meta.dirname, '../../../functions');

it.each(await functionNames())('%s can be told to ask who asks', async (name) => {
  const path = resolve(functions, name, 'index.ts');
  const definition = definitionIn(await import(path), path);
  expect('readApiServer' in definition).toBe(true);
});

it('a function that takes no events is not told to ask for tokens that nobody looks at', () => {
  const env = { SENDER_AUDIENCE: 'locate', SENDER_SUBJECTS: 'somebody' };
  const receiver = { canReadApiServer: true, takesEvents: false };
  const problemsOf = (more: Readonly<Record<string, string>>): readonly string[] =>
    senderProblems(readConfig({ ...env, ...more }, runtimeShape).config(), receiver);
  expect(problemsOf({})).toEqual([expect.stringContaining('without SENDERS_ONLY=true')]);
  expect(problemsOf({ SENDERS_ONLY: 'true' })).toEqual([]);
});
