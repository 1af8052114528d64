// Media types are remembered, of which senders may invent as many as they like.
import { expect, test } from 'vitest';
import { parseMediaType } from '../../../shared/function/media-type.ts';

/** One that is remembered is answered with the same object again. */
const isRemembered = (text: string): boolean => parseMediaType(text) === parseMediaType(text);

const invented = (index: number, length: number): string =>
  `application/json;a=${index}-`.padEnd(length, 'x');

test('a media type that was seen is remembered, unless it is long', () => {
  expect(isRemembered('application/json')).toBe(true);
  expect(isRemembered(invented(0, 5_000))).toBe(false);
});

test('of ten thousand media types, each another, some are remembered, and the others read', () => {
  const texts = Array.from({ length: 10_000 }, (_, index) => invented(index, 200));
  expect(texts.filter(isRemembered).length).toBeLessThanOrEqual(64);
  expect(texts.every((text) => parseMediaType(text)?.isJson)).toBe(true);
});
