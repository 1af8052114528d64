// The answer about an upgrade as a person reads it: for each definition its verdict, what it rests
// on and the commands that help, and at the end what all comes to.
import { printable } from '../../../shared/function/printable.ts';
import type { AgainstAnswer, CrdAnswer } from './against.ts';
import type { Reason, Verdict } from './reason.ts';

export function againstPageOf({ of, triedOn, crds, verdict, findings }: AgainstAnswer): string {
  const at = of.revision === undefined ? '' : `, at revision ${of.revision}`;
  const tried = triedOn === undefined ? '' : `, tried on an API server ${triedOn}`;
  const definitions = crds.length === 1 ? '1 definition' : `${crds.length} definitions`;
  const head = line(`${definitions} against ${of.source}${at}${tried}.`);
  const shown = crds.map((crd) => shownCrd(crd)).join('');
  return `${head}${shown}\n${HEADS[verdict]}\n${findings.map((one) => line(`- ${one}`)).join('')}`;
}

function shownCrd({ name, verdict, isNew, objects, checked, reasons }: CrdAnswer): string {
  const all = objects === 1 ? '1 object' : `${objects} objects`;
  const held = objects === checked ? all : `${checked} of ${all} held against it`;
  const facts = isNew ? 'new' : held;
  const head = line(`${name} (${facts}): ${WORDS[verdict]}`);
  return `\n${head}${reasons.map((reason) => shownReason(reason)).join('')}`;
}

function shownReason({ says, commands, what, objects }: Reason): string {
  // Names alone are in the sentence already.
  const listed = what === 'objects-refused' ? objects : undefined;
  const examples = listed?.examples ?? [];
  const more = listed !== undefined && listed.count > examples.length ? ['...'] : [];
  const below = [...examples, ...more].map((one) => line(`    ${one}`)).join('');
  return `${line(`  ${says}`)}${below}${commands.map((one) => line(`    $ ${one}`)).join('')}`;
}

const WORDS: Readonly<Record<Verdict, string>> = {
  safe: 'safe',
  unsafe: 'unsafe',
  'unsafe-objects': 'unsafe, because of objects that exist',
  unknown: 'not known',
};

const HEADS: Readonly<Record<Verdict, string>> = {
  safe: 'The upgrade may be applied.',
  unsafe: 'The upgrade may not be applied:',
  'unsafe-objects': 'The upgrade may not be applied, only because of objects that exist:',
  unknown: 'Whether the upgrade may be applied cannot be told:',
};

/** Names may hold anything, and must not draw on a terminal or begin a line of their own. */
const line = (text: string): string => `${printable(text)}\n`;
