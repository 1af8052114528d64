// Options of the ladder, and the rungs that they choose.

import { describe, expect, test } from 'vitest';
import { readOptions, usage } from '../../ladder/options.ts';
import { rungs } from '../../ladder/rungs.ts';

describe('the ladder', () => {
  test.each([
    ['nothing', [], rungs.map((rung) => rung.name)],
    ['one rung', ['unit'], ['unit']],
    ['two rungs in any order', ['unit', 'types'], ['types', 'unit']],
    ['--only with a list', ['--only', 'unit,lint'], ['lint', 'unit']],
    ['--only=', ['--only=types'], ['types']],
    ['a rung that stands on others', ['cluster'], ['parts', 'node', 'cluster']],
    ['one lane', ['integration:kube'], ['bundles', 'parts', 'integration:kube']],
  ])('asked for %s climbs what that takes', (_case, args, chosen) => {
    expect(readOptions(args, false)).toEqual({
      do: 'run',
      chosen,
      showsTimes: false,
      onlyChanged: false,
    });
  });

  test('asked for integration climbs its lanes too', () => {
    const lanes = rungs.map(({ name }) => name).filter((name) => name.startsWith('integration:'));
    const chosen = ['bundles', 'parts', 'integration', ...lanes];
    expect(lanes).not.toEqual([]);
    expect(readOptions(['integration'], false)).toMatchObject({ chosen });
  });

  test('is asked for a table of times beside its rungs', () => {
    const options = { do: 'run', chosen: ['unit'], showsTimes: true, onlyChanged: false };
    expect(readOptions(['--times', 'unit'], false)).toEqual(options);
    expect(readOptions(['unit', '--times'], false)).toEqual(options);
  });

  test('leaves out what has not changed when asked to, and never in a continuous build', () => {
    const options = { do: 'run', chosen: ['unit'], onlyChanged: true };
    expect(readOptions(['--changed', 'unit'], false)).toMatchObject(options);
    expect(readOptions(['unit', '--changed'], true)).toMatchObject({ do: 'refuse' });
  });

  test.each([
    ['a rung that does not exist', ['units'], 'There is no rung called units.'],
    ['an option that does not exist', ['--fast'], 'There is no option --fast.'],
    ['--only without a name', ['--only'], '--only wants the names of rungs.'],
  ])('asked for %s refuses by name', (_case, args, why) => {
    expect(readOptions(args, false)).toEqual({ do: 'refuse', why });
  });

  test('shows help whatever else it was asked', () => {
    expect(readOptions(['unit', '--help'], false)).toEqual({ do: 'help' });
    for (const rung of rungs) expect(usage()).toContain(`  ${rung.name} `);
  });

  test('has no rung that stands on a later one', () => {
    const names = rungs.map((rung) => rung.name);
    for (const rung of rungs) {
      const before = names.slice(0, names.indexOf(rung.name));
      expect(before).toEqual(expect.arrayContaining([...rung.needs]));
    }
  });
});
