// References: short names of elements that hold for one document. They begin with
// the name of the document, so that one of a page that is gone is told from one of
// this page. Where the plugin could count no documents, this one gets a long name
// that no other one will have.

const LETTERS = 'abcdfghjkmnpqrstuvwxyz';
const DOCUMENT = NAMED ?? longName();

function longName() {
  const numbers = crypto.getRandomValues(new Uint8Array(9));
  return Array.from(numbers, (number) => LETTERS[number % LETTERS.length]).join('') + '0';
}

const referred = new Map();
const references = new WeakMap();
let counted = 0;

function referenceOf(element) {
  let reference = references.get(element);
  if (!reference) {
    reference = `${DOCUMENT}e${++counted}`;
    references.set(element, reference);
    referred.set(reference, new WeakRef(element));
    if (referred.size > REFERENCES) forget();
  }
  return reference;
}

// Lets go of those whose element is gone, and of the oldest where that is not
// enough.
function forget() {
  for (const [reference, element] of referred) {
    if (!element.deref()?.isConnected) referred.delete(reference);
  }
  for (const reference of referred.keys()) {
    if (referred.size <= REFERENCES / 2) break;
    const element = referred.get(reference).deref();
    if (element) references.delete(element);
    referred.delete(reference);
  }
}

// The element of a reference, or why there is none.
function refer(reference) {
  if (!reference.startsWith(`${DOCUMENT}e`)) return { problem: 'stale' };
  const element = referred.get(reference)?.deref();
  if (!element) return { problem: 'unknown' };
  return element.isConnected && element.ownerDocument.defaultView ? { element } : { problem: 'detached' };
}
