// The difference between two states of an object, in a few words.
import { isDeepStrictEqual } from 'node:util';
import type { ContainerMessage, ObjectMessage } from '../../../../shared/feed/messages.ts';

/** Every change changes these fields. */
const BOOKKEEPING = new Set(['epoch', 'resourceVersion']);

export function differenceInWords(before: ObjectMessage, after: ObjectMessage): string {
  if (before.uid !== after.uid) return 'another object of this name';
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const names = [...new Set([...now.keys(), ...old.keys()])];
  return names
    .filter((name) => !BOOKKEEPING.has(name))
    .filter((name) => !isDeepStrictEqual(old.get(name), now.get(name)))
    .map((name) =>
      name === 'containers'
        ? containersInWords(before.containers ?? [], after.containers ?? [])
        : fieldInWords(name, old.get(name), now.get(name)),
    )
    .join(', ');
}

function fieldInWords(name: string, before: unknown, after: unknown): string {
  if (after === true) return name;
  if (before === true) return `not ${name}`;
  const [old, now] = [inWord(before), inWord(after)];
  return old === now ? name : `${name} ${old} -> ${now}`;
}

function inWord(value: unknown): string {
  if (value === undefined) return 'none';
  if (Array.isArray(value)) {
    const isText = value.length > 0 && value.every((each) => typeof each === 'string');
    return isText ? value.join(' ') : `${value.length}`;
  }
  return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
}

function containersInWords(
  before: readonly ContainerMessage[],
  after: readonly ContainerMessage[],
): string {
  const words = after.flatMap((now) => {
    const old = before.find(({ name }) => name === now.name);
    const [was, is] = [stateOf(old), stateOf(now)];
    return was === is ? [] : [`${now.name} ${was} -> ${is}`];
  });
  return words.length === 0 ? 'containers' : words.join(', ');
}

function stateOf(container: ContainerMessage | undefined): string {
  if (container === undefined) return 'none';
  const { state = 'unknown', reason, ready } = container;
  return `${state}${reason === undefined ? '' : ` (${reason})`}${ready === true ? ' ready' : ''}`;
}
