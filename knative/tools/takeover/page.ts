// The page of one legacy cluster for a terminal: the plan, its objects and steps as tables, what
// speaks against it, and what to know. Pure.
import { intoKindOf } from '../../../functions/takeover/object.ts';
import type { PlannedObject, PlannedStep } from '../../../shared/api/takeover.ts';
import { printable } from '../../../shared/function/printable.ts';
import { textOf } from '../../../shared/function/table.ts';
import type { FoundLegacy } from './find.ts';

export function pageOf(found: FoundLegacy): string {
  const { objects, steps, refusals, notes } = found.plan;
  return [
    headOf(found),
    textOf(objects.map(rowOf)),
    textOf(steps.map(stepOf)),
    ...(refusals.length === 0 ? [] : [`Against it:\n${listOf(refusals)}`]),
    ...(notes.length === 0 ? [] : [`To know:\n${listOf(notes)}`]),
  ].join('\n');
}

function headOf({ kind, group, namespace, name, into, takeover, plan }: FoundLegacy): string {
  const old = `${kind} ${namespace}/${name} of ${group}`;
  const { id } = plan;
  const has = id === undefined ? 'has no plan that could be confirmed' : `has plan ${id}`;
  const then = plan.next === 'Nothing' ? '' : ` Next: ${plan.next}.`;
  const whose =
    takeover === undefined
      ? 'There is no Takeover of it yet; --manifests prints one.'
      : `Takeover ${namespace}/${takeover} ${has}.${then} ${plan.waitsFor ?? ''}`.trimEnd();
  const first = printable(`${old}, into ${intoKindOf({ kind })} ${into}`);
  return `${first}\n${printable(whose)}\n`;
}

const rowOf = ({ action, kind, namespace, name, why }: PlannedObject) => ({
  action,
  kind,
  name: namespace === undefined ? name : `${namespace}/${name}`,
  why,
});

const stepOf = ({ name, writers, noWayBack, does }: PlannedStep, at: number) => ({
  step: `${at + 1} ${name}`,
  writers: writers === undefined ? '' : WRITERS[writers],
  back: noWayBack === true ? 'no way back' : '',
  what: does,
});

const WRITERS = { Stop: 'stop', GoOn: 'go on' } as const;

const listOf = (findings: readonly { readonly reason: string; readonly message: string }[]) =>
  findings.map(({ reason, message }) => `- ${printable(`${reason}: ${message}`)}\n`).join('');
