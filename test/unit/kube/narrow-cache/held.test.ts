// The held state of an object goes forward only: the table of answers and events that come in the
// wrong order.
import { expect, test } from 'vitest';
import {
  afterAnswer,
  afterEvent,
  afterGet,
  type Held,
} from '../../../../shared/kube/narrow-cache/held.ts';

const at = (version: string, of = version): Held => ({
  version,
  object: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', uid: 'u1', resourceVersion: of },
  },
});
const gone = (version: string): Held => ({ object: null, version });

test.each<[string, Held, Held, Held]>([
  ['a newer event is taken', at('9'), at('10'), at('10')],
  ['an older event after a newer read is dropped', at('10'), at('9'), at('10')],
  ['an older deletion after a newer read is dropped', at('10'), gone('9'), at('10')],
  ['an older event after a newer absence brings nothing back', gone('10'), at('9'), gone('10')],
  ['the same version again changes nothing', at('10'), at('10', '7'), at('10')],
  [
    'versions are numbers of any length',
    at('99999999999999999999'),
    at('100000000000000000000'),
    at('100000000000000000000'),
  ],
  ['of versions that are no numbers the last one counts', at('b'), at('a'), at('a')],
])('%s', (_, held, event, expected) => {
  expect(afterEvent(held, event)).toEqual(expected);
});

test.each<[string, Held | undefined, Held | undefined, Held, Held]>([
  ['the first answer is held', undefined, undefined, at('5'), at('5')],
  ['an absence has a version too', at('5'), at('5'), gone('6'), gone('6')],
  ['an answer that a watch has overtaken is dropped', at('8'), at('5'), at('6'), at('8')],
  ['one asked for before anything was held as well', at('8'), undefined, at('6'), at('8')],
  [
    'an answer from before what was held then: the history went back',
    at('8'),
    at('8'),
    at('6'),
    at('6'),
  ],
  ['after that the newer of two answers counts', at('7'), at('9'), at('6'), at('7')],
  ['which may come last', at('6'), at('9'), at('7'), at('7')],
])('%s', (_, held, heldThen, answer, expected) => {
  expect(afterAnswer(held, heldThen, answer)).toEqual(expected);
});

test.each<[string, Held | undefined, 'as it was' | 'overtaken', Held, Held]>([
  ['the first object is held', undefined, 'as it was', at('5'), at('5')],
  ['a changed object is taken', at('5'), 'as it was', at('6'), at('6')],
  ['the object that is held says nothing new', at('9', '5'), 'as it was', at('5'), at('9', '5')],
  ['another one of before: the history went back', at('9'), 'as it was', at('6'), at('6')],
  ['one of before an absence as well', gone('9'), 'as it was', at('6'), at('6')],
  ['one that a watch has overtaken is dropped', at('8'), 'overtaken', at('6'), at('8')],
])('after a get %s', (_, held, since, answer, expected) => {
  expect(afterGet(held, since === 'overtaken' ? at('5') : held, answer)).toEqual(expected);
});
