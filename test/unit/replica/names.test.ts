// Which names people mean by their beginning, and which labels a selector takes.
import { describe, expect, test } from 'vitest';
import { completeName } from '../../../shared/nats/replica/names.ts';
import { parseSelector, satisfies } from '../../../shared/nats/replica/selector.ts';

const held = (names: readonly string[], namespace = 'shop', resource = 'pods') => ({
  resource,
  namespace,
  names,
});
const complete = (prefix: string, names: readonly string[], limit = 10): string[] =>
  completeName(prefix, [held(names)], limit).map(({ name }) => name);

describe('completion', () => {
  test('the name itself comes first, then beginnings, then parts, shorter ones before', () => {
    const names = ['my-web', 'web-frontend', 'web', 'website', 'a.web', 'cobweb', 'my-webs'];
    expect(complete('web', names)).toEqual([
      'web',
      'website',
      'web-frontend',
      'a.web',
      'my-web',
      'my-webs',
    ]);
  });

  test('a part counts only where it begins, also when it occurs before', () => {
    expect(complete('eb', ['web-eb', 'web'])).toEqual(['web-eb']);
  });

  test('the best few are the same as the first of all', () => {
    const names = Array.from({ length: 500 }, (_, index) => `web-${(index * 7919) % 500}`);
    const all = complete('web', names, 500);
    for (const limit of [0, 1, 7, 499])
      expect(complete('web', names, limit)).toEqual(all.slice(0, limit));
  });

  test('one name in several namespaces is one answer', () => {
    for (const limit of [1, 10]) {
      const found = completeName('we', [held(['web'], 'b'), held(['web'], 'a')], limit);
      expect(found).toEqual([{ resource: 'pods', name: 'web', namespaces: ['a', 'b'] }]);
    }
    const kinds = completeName('web', [held(['web']), held(['web'], 'shop', 'jobs')], 10);
    expect(kinds.map(({ resource }) => resource)).toEqual(['jobs', 'pods']);
  });
});

describe('selector', () => {
  const rows: readonly [text: string, labels: Record<string, string>, isMet: boolean][] = [
    ['app=web', { app: 'web' }, true],
    ['app==web', { app: 'web' }, true],
    ['app = web', { app: 'web' }, true],
    ['app=web', { app: 'api' }, false],
    ['app=web', {}, false],
    ['app!=web', { app: 'api' }, true],
    ['app!=web', {}, true],
    ['app!=web', { app: 'web' }, false],
    ['app', { app: '' }, true],
    ['app=', { app: '' }, true],
    ['!app', { app: 'web' }, false],
    ['!app', {}, true],
    ['app in (web, api)', { app: 'api' }, true],
    ['app in (web,api)', { app: 'db' }, false],
    ['app notin (web,api)', { app: 'db' }, true],
    ['app notin (web,api)', {}, true],
    ['app=web,tier!=x,zone in (a,b),!old', { app: 'web', zone: 'b' }, true],
    ['app=web,tier!=x,zone in (a,b),!old', { app: 'web', zone: 'b', old: '' }, false],
    ['example.com/app.v1=web', { 'example.com/app.v1': 'web' }, true],
    ['constructor', {}, false],
  ];
  test.each(rows)('%s of %o is %s', (text, labels, isMet) => {
    const requirements = parseSelector(text);
    if (typeof requirements === 'string') throw new Error(requirements);
    expect(satisfies(labels, requirements)).toBe(isMet);
  });

  const wrong = [
    '',
    'app=web,',
    'app=web,,tier=x',
    '=web',
    'app>1',
    'app in web',
    'app in (a',
    'a b',
  ];
  test.each([...wrong, '!', '!app=web', 'app=a=b', 'app in ((a))'])('%s is refused', (text) => {
    expect(parseSelector(text)).toEqual(expect.stringContaining('no requirement'));
  });
});
