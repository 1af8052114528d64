// Holds every file of the repository against our own rules, one test per rule. The linter's own
// rules are in .oxlintrc.json; these are the rules that it does not have.

import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { callRules } from '../../tidy/call-rules.ts';
import { importRules } from '../../tidy/import-rules.ts';
import { packageRules } from '../../tidy/package-rules.ts';
import { describeFindings } from '../../tidy/rule.ts';
import { readSources } from '../../tidy/sources.ts';
import { textRules } from '../../tidy/text-rules.ts';

const sources = readSources(resolve(import.meta.dirname, '../../..'));

test('the rules see the repository', () => {
  const paths = sources.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['package.json', 'shared/errors.ts', '.ci/run']));
});

/** Some rules read every syntax tree, which takes seconds on a busy machine. */
const RULE_TIMEOUT_MS = 120_000;

const rules = [...textRules, ...callRules, ...importRules, ...packageRules];
test.each(rules)(
  'no file breaks the rule $name',
  (rule) => {
    expect(describeFindings(rule, rule.check(sources))).toBe('');
  },
  RULE_TIMEOUT_MS,
);
