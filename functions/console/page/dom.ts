// Makes elements. Whatever comes from the cluster goes in as text, never as markup.

export function element(
  tag: string,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElement {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no ${id}.`);
  return found;
}

export function inputById(id: string): HTMLInputElement {
  const found = byId(id);
  if (found instanceof HTMLInputElement) return found;
  throw new Error(`${id} is no input.`);
}
