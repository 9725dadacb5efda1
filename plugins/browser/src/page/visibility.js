// What a person could see of the page, and the tree that it is made of: shadow
// trees and frames of the same origin included. Knows nothing of names and roles.

const SKIPPED = new Set(['script', 'style', 'template', 'noscript', 'head', 'link', 'meta', 'title', 'base', 'param', 'source', 'track']);

// The document inside of a frame, where it may be read.
function innerDocument(element) {
  if (element.localName !== 'iframe' && element.localName !== 'frame') return null;
  try {
    return element.contentDocument;
  } catch {
    return null;
  }
}

// Children as they are drawn: a shadow tree in place of its host's children, and
// what is put into a slot in the place of the slot.
function childrenOf(node) {
  if (node.nodeType !== 1) return node.childNodes;
  if (node.shadowRoot) return node.shadowRoot.childNodes;
  if (node.localName === 'slot') {
    const assigned = node.assignedNodes({ flatten: true });
    if (assigned.length) return assigned;
  }
  return node.childNodes;
}

function parentOf(element) {
  if (element.assignedSlot) return element.assignedSlot;
  const parent = element.parentNode;
  return parent && parent.nodeType === 11 ? parent.host : parent;
}

function styleOf(element) {
  const view = element.ownerDocument.defaultView;
  return view ? view.getComputedStyle(element) : null;
}

// Whether neither the element nor anything in it is drawn.
function isGone(element) {
  if (SKIPPED.has(element.localName)) return true;
  if (element.localName === 'input' && element.type === 'hidden') return true;
  const parent = element.parentElement;
  if (parent?.localName === 'details' && !parent.open && element !== parent.querySelector(':scope > summary')) return true;
  const style = styleOf(element);
  return !style || style.display === 'none' || style.contentVisibility === 'hidden';
}

// Whether the element itself may be seen. What it holds may differ.
function isShown(element) {
  const style = styleOf(element);
  return Boolean(style) && style.visibility === 'visible';
}

// Whether a person can see it somewhere on the page.
function isVisible(element) {
  if (!element.isConnected) return false;
  for (let at = element; at && at.nodeType === 1; at = parentOf(at)) {
    if (isGone(at)) return false;
  }
  if (!isShown(element)) return false;
  const area = element.getBoundingClientRect();
  return area.width > 0 && area.height > 0 ? true : [...element.getClientRects()].some((part) => part.width > 0 && part.height > 0);
}

// Every element of the page, in the order in which they are drawn, at most so
// many; `enter` says whether what is in one is looked at.
function* elements(root, enter = () => true, most = { left: WALKED }) {
  const stack = [root];
  while (stack.length) {
    const node = stack.pop();
    if (node.nodeType === 1) {
      if (most.left-- <= 0) return;
      yield node;
      if (!enter(node)) continue;
    }
    const inner = node.nodeType === 1 ? innerDocument(node) : null;
    const children = inner ? [inner] : childrenOf(node);
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index];
      if (child.nodeType === 1 || child.nodeType === 9) stack.push(child);
    }
  }
}

function bodyOf(page = document) {
  return page.body || page.documentElement || page;
}

// Where the top left of an element's own document is, from the top left of what
// is seen of the page.
function offsetOf(element) {
  let [x, y] = [0, 0];
  for (let view = element.ownerDocument.defaultView; view && view !== window; ) {
    let frame;
    try {
      frame = view.frameElement;
    } catch {
      frame = null;
    }
    if (!frame) break;
    const area = frame.getBoundingClientRect();
    const style = styleOf(frame);
    x += area.left + frame.clientLeft + (parseFloat(style?.paddingLeft) || 0);
    y += area.top + frame.clientTop + (parseFloat(style?.paddingTop) || 0);
    view = frame.ownerDocument.defaultView;
  }
  return { x, y };
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
