// docs/errors.md and the table of codes, held against each other both ways.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FailureKind, errorTable } from '../../shared/errors.ts';

const docs = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const [, ...sections] = docs.split(/^## /m);
const byCode = new Map(sections.map((text) => [text.slice(0, text.indexOf('\n')), text]));

const said: Readonly<Record<FailureKind, string>> = {
  retry: 'to be retried',
  reject: 'final',
  bug: 'a bug of ours, kept by the sender',
};

describe('docs/errors.md', () => {
  it('explains exactly the codes there are, each once', () => {
    const headings = sections.map((text) => text.slice(0, text.indexOf('\n')));
    expect(headings.toSorted()).toEqual(Object.keys(errorTable).toSorted());
  });

  it.each(Object.entries(errorTable))('says of %s how it is answered', (code, row) => {
    expect(byCode.get(code)).toContain(`\n${row.title}: ${row.status}, ${said[row.kind]}.\n`);
  });

  it.each(Object.keys(errorTable))('says of %s what happened and what to do', (code) => {
    const [, , cause, advice] = byCode.get(code)?.split('\n\n') ?? [];
    expect(cause).toMatch(/^[A-Z`].{20,}\.$/s);
    expect(advice).toMatch(/^What to do: .{10,}\.\s*$/s);
  });

  it('never promises an answer that makes a sender drop the event', () => {
    const statuses = Object.values(errorTable).map(({ status }) => status);
    expect(statuses.filter((status) => [408, 409, 500].includes(status))).toEqual([]);
  });
});
