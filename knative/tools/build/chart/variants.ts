// Which objects a choice changes, and every form that an object has in between: the forms stand in
// its template, each under its conditions.
import type { Manifest } from '../../../../shared/kube/objects.ts';
import type { Choice } from './choices.ts';

/** One object, or its two forms by a choice; in each it may be absent. */
export type Variant =
  | { readonly object: Manifest | undefined }
  | { readonly by: Choice; readonly on: Variant; readonly off: Variant };

/** Its name and kind are the same whatever is chosen. */
export function objectOf(variant: Variant): Manifest {
  if ('by' in variant) return objectOf(isAdded(variant) ? variant.on : variant.off);
  if (variant.object === undefined) throw new Error('Nothing that is chosen has this object.');
  return variant.object;
}

/** It is there by choice. */
export const isAdded = (variant: Variant): boolean =>
  'by' in variant ? isAdded(variant.off) : variant.object === undefined;

type Rendered = ReadonlyMap<string, Manifest>;
type Render = (choices: readonly Choice[]) => Promise<readonly Manifest[]>;

/** In the order of kustomize; what only a choice brings comes last. */
export async function variantsOf(
  choices: readonly Choice[],
  render: Render,
): Promise<readonly Variant[]> {
  const renderings = new Map<string, Rendered>();
  const rendered = async (chosen: readonly Choice[]): Promise<Rendered> => {
    const id = chosen.map(({ when }) => when).join(' ');
    const known = renderings.get(id) ?? byName(await render(chosen));
    renderings.set(id, known);
    return known;
  };
  const base = await rendered([]);
  const single: Rendered[] = [];
  for (const choice of choices) single.push(await rendered([choice]));
  const names = new Set([base, ...single].flatMap((one) => [...one.keys()]));
  const variants: Variant[] = [];
  for (const name of names) {
    const formOf = (one: Rendered | undefined): string => JSON.stringify(one?.get(name) ?? null);
    const changing = choices.filter((_, index) => formOf(single[index]) !== formOf(base));
    variants.push(await variantOf(name, changing, [], rendered));
  }
  return variants;
}

async function variantOf(
  name: string,
  [by, ...others]: readonly Choice[],
  chosen: readonly Choice[],
  rendered: (chosen: readonly Choice[]) => Promise<Rendered>,
): Promise<Variant> {
  if (by === undefined) return { object: (await rendered(chosen)).get(name) };
  const on = await variantOf(name, others, [...chosen, by], rendered);
  return { by, on, off: await variantOf(name, others, chosen, rendered) };
}

const byName = (objects: readonly Manifest[]): Rendered =>
  new Map(objects.map((object) => [nameOf(object), object] as const));

const nameOf = ({ apiVersion, kind, metadata }: Manifest): string =>
  `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
