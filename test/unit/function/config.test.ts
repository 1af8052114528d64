// Configuration: one frozen object, or one error that names everything.
import { describe, expect, it } from 'vitest';
import { exampleEnvironment, readConfig, showConfig } from '../../../shared/function/config.ts';
import { ETCD_CONFIG } from '../../../shared/function/etcd-config.ts';
import {
  flag,
  integer,
  list,
  oneOf,
  secondsAsMs,
  text,
  url,
} from '../../../shared/function/parsers.ts';

const shape = {
  count: { env: 'COUNT', meaning: 'how many', parse: integer(1, 9), fallback: 3 },
  token: { env: 'TOKEN', meaning: 'who we are', parse: text, example: 'example', secret: true },
};

describe('reading', () => {
  it('names every variable that is missing or wrong in one error', () => {
    const reading = readConfig({ COUNT: '12' }, shape);
    expect(reading.problems).toEqual([
      "COUNT ('12') is not a whole number from 1 to 9; it says how many",
      'TOKEN is not set; it says who we are',
    ]);
    expect(() => reading.config()).toThrow(/COUNT .*TOKEN /);
  });

  it('takes the fallback for a variable that is absent or empty', () => {
    expect(readConfig({ COUNT: '', TOKEN: 'x' }, shape).config().count).toBe(3);
    expect(readConfig({ TOKEN: 'x' }, shape).config().count).toBe(3);
  });

  it('gives an object that nobody can change', () => {
    expect(Object.isFrozen(readConfig({ TOKEN: 'x' }, shape).config())).toBe(true);
  });

  it('never says what a secret is, neither in force nor in an error', () => {
    const refusing = { ...shape.token, parse: integer(1, 2) };
    expect(readConfig({ TOKEN: 'hunter2' }, { token: refusing }).problems.join()).not.toContain(
      'hunter2',
    );
    const shown = showConfig(readConfig({ TOKEN: 'hunter2' }, shape).config(), shape);
    expect(shown).toEqual({ count: 3, token: '(secret, set)' });
  });

  it.each([
    ['nats://user:hunter2@host:4222', 'nats://***@host:4222'],
    ['nats://hunter2@host', 'nats://***@host'],
    ['nats://user:hun/ter2@host:x', 'nats://***@host:x'],
    ['nats://a:hunter2@one,nats://b:hunter2@two', 'nats://***@two'],
    ['user:hunter2@host', '***@host'],
    ['nats://host:4222', 'nats://host:4222'],
  ])('never shows who %s logs in as', (given, shown) => {
    const refusing = { env: 'NATS', meaning: 'where', parse: integer(1, 2) };
    expect(readConfig({ NATS: given }, { nats: refusing }).problems).toEqual([
      `NATS ('${shown}') is not a whole number from 1 to 2; it says where`,
    ]);
    const open = { nats: { env: 'NATS', meaning: 'where', parse: text, example: 'x' } };
    expect(showConfig({ nats: given }, open)).toEqual({ nats: shown });
    const several: { readonly nats: readonly string[] } = { nats: [given] };
    expect(showConfig(several, { nats: { ...open.nats, parse: list(text) } })).toEqual({
      nats: [shown],
    });
  });

  it('never shows the user info of what was parsed to a URL', () => {
    const parsed = {
      nats: { env: 'NATS', meaning: 'where', parse: url('nats'), example: 'nats://x' },
    };
    const config = readConfig({ NATS: 'nats://user:hunter2@host' }, parsed).config();
    expect(showConfig(config, parsed)).toEqual({ nats: 'nats://***@host' });
  });

  it('does not repeat a value that a parser quotes in its refusal', () => {
    const quoting = (value: string): never => {
      throw new Error(`not a place (${value})`);
    };
    const open = { env: 'NATS', meaning: 'where', parse: quoting };
    const said = [open, { ...open, secret: true }].flatMap(
      (nats) => readConfig({ NATS: 'nats://user:hunter2@host' }, { nats }).problems,
    );
    expect(said.join()).not.toContain('hunter2');
  });

  it('has an example for each variable that must be set', () => {
    expect(exampleEnvironment(shape)).toEqual({ TOKEN: 'example' });
  });
});

describe('parsers', () => {
  it.each([
    ['a whole number', integer(0, 65_535), '8080', 8080],
    ['seconds, as milliseconds', secondsAsMs(0, 10), '0.25', 250],
    ['one of the choices', oneOf('a', 'b'), 'b', 'b'],
    ['a flag', flag, 'false', false],
    ['a list with blanks', list(integer(0, 9)), '1, 2,', [1, 2]],
    ['a URL', url('nats'), 'nats://host:4222', new URL('nats://host:4222')],
  ])('read %s', (_what, parse: (value: string) => unknown, value, expected) => {
    expect(parse(value)).toEqual(expected);
  });

  it.each([
    ['a number with more behind it', integer(0, 65_535), '80x'],
    ['a fraction', integer(0, 65_535), '1.5'],
    ['a number that is too large', integer(0, 65_535), '65536'],
    ['seconds with a unit', secondsAsMs(0, 10), '5s'],
    ['another choice', oneOf('a', 'b'), 'c'],
    ['a flag in another spelling', flag, 'yes'],
    ['a URL of another protocol', url('nats'), 'http://host'],
  ])('refuse %s', (_what, parse: (value: string) => unknown, value) => {
    expect(() => parse(value)).toThrow(/^not /);
  });
});

describe('the prefixes of keys in etcd', () => {
  const prefixes = (listed: string) =>
    readConfig({ ETCD_PREFIXES: listed }, ETCD_CONFIG).config().prefixes;

  it('are understood with and without slashes around them, as --prefix is', () => {
    expect(prefixes('registry/, /kubernetes.io,/my/own/')).toEqual([
      '/registry',
      '/kubernetes.io',
      '/my/own',
    ]);
  });

  it('are none where nothing is between the slashes', () => {
    expect(() => prefixes('/registry,//')).toThrow(/ETCD_PREFIXES .*is not as \/registry/);
  });
});
