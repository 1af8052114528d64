// Counts on the command lines of our own tools.

export function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`${name} wants a whole number from 1 on, not ${text}.`);
}
