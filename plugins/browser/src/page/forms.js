// Fields: what is put into them, as far as that is done in the page. A text is
// typed by the host; here it is only made ready for, and looked at afterwards.

const SET_BY_VALUE = new Set(['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range']);

// Sets a value as a browser does, so that what listens for it hears of it.
function setValue(field, value) {
  const kind = field.localName === 'textarea' ? 'HTMLTextAreaElement' : 'HTMLInputElement';
  const setter = Object.getOwnPropertyDescriptor(field.ownerDocument.defaultView[kind].prototype, 'value').set;
  setter.call(field, value);
  tell(field);
}

function tell(field) {
  field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
}

function focusOn(element) {
  element.focus({ preventScroll: true });
}

// Puts a value into a field, or says what is left to do: `type` the text into what
// is selected now, or `click` the box.
function prepareFill(element, value, types) {
  const role = roleOf(element);
  const known = brief(element);
  if (element.localName === 'select') return { ...known, ...choose(element, [value]) };
  if (role === 'checkbox' || role === 'radio' || role === 'switch') {
    const wanted = { true: true, on: true, yes: true, checked: true, 1: true, false: false, off: false, no: false, unchecked: false, 0: false }[value.trim().toLowerCase()];
    if (wanted === undefined) return { problem: 'box', ...known };
    const now = element.localName === 'input' ? element.checked : element.getAttribute('aria-checked') === 'true';
    if (now === wanted) return { ...known, done: true, value: String(now) };
    return role === 'radio' && !wanted ? { problem: 'radio', ...known } : { ...known, click: true };
  }
  if (role === 'file') return { problem: 'file', ...known };
  const native = element.localName === 'input' || element.localName === 'textarea';
  if (element.localName === 'input' && SET_BY_VALUE.has(element.type)) {
    focusOn(element);
    setValue(element, value);
    if (element.value !== value && !(element.type === 'range' || element.type === 'color')) {
      return { problem: 'format', type: element.type, ...known };
    }
    return { ...known, done: true, value: valueOf(element, role) };
  }
  if (native && ['button', 'submit', 'reset', 'image'].includes(element.type)) return { problem: 'field', ...known };
  if (!native && !element.isContentEditable) return { problem: 'field', ...known };
  focusOn(element);
  if (native) element.select();
  else element.ownerDocument.defaultView.getSelection().selectAllChildren(element);
  if (value !== '' && types) return { ...known, type: true };
  if (native) setValue(element, value);
  else {
    element.textContent = value;
    tell(element);
  }
  return { ...known, done: true, value: valueOf(element, role) };
}

// What a field holds after a text was typed into it; sets it where the typing
// did not arrive.
function confirmFill(element, value) {
  const native = element.localName === 'input' || element.localName === 'textarea';
  if (native && element.value === '' && value !== '') setValue(element, value);
  return { ...brief(element), value: valueOf(element, roleOf(element)), valid: native && element.willValidate ? element.validity.valid : true, says: native ? squeeze(element.validationMessage) : '' };
}

// Chooses options of a select by value or label.
function choose(select, wanted) {
  if (select.localName !== 'select') return { problem: 'select' };
  const options = [...select.options];
  const same = (one, other) => squeeze(one).toLowerCase() === squeeze(other).toLowerCase();
  const found = [];
  for (const value of wanted) {
    const option = options.find((one) => one.value === value) || options.find((one) => same(one.label, value) || same(one.text, value));
    const known = options.slice(0, 20).map((one) => squeeze(one.label));
    if (!option) return { problem: 'option', wanted: value, options: known, more: options.length - known.length };
    if (option.disabled) return { problem: 'option-disabled', wanted: value };
    found.push(option);
  }
  if (!select.multiple && found.length !== 1) return { problem: 'single' };
  focusOn(select);
  if (select.multiple) options.forEach((option) => { option.selected = found.includes(option); });
  else found[0].selected = true;
  tell(select);
  return { done: true, value: valueOf(select) };
}

// Selects nothing and puts the caret at the end of what a field holds.
function prepareType(element) {
  focusOn(element);
  const native = element.localName === 'input' || element.localName === 'textarea';
  if (!native && !element.isContentEditable) return { problem: 'field', ...brief(element) };
  try {
    if (native) element.setSelectionRange(element.value.length, element.value.length);
    else element.ownerDocument.defaultView.getSelection().collapse(element, element.childNodes.length);
  } catch {
    // Fields of numbers and dates have no caret to put.
  }
  return brief(element);
}

// Where the keyboard goes now, frames and shadow trees included.
function focused() {
  let at = document.activeElement;
  for (let depth = 0; at && depth < 20; depth++) {
    const inner = innerDocument(at)?.activeElement || at.shadowRoot?.activeElement;
    if (!inner) break;
    at = inner;
  }
  return at && at !== bodyOf(at.ownerDocument) ? at : null;
}

// A click as scripts make it, for a browser without a mouse.
function synthesise(element, { button, count }) {
  const options = { bubbles: true, cancelable: true, composed: true, view: element.ownerDocument.defaultView, button };
  for (let click = 1; click <= count; click++) {
    for (const kind of ['pointerdown', 'mousedown', 'pointerup', 'mouseup']) {
      element.dispatchEvent(new (kind.startsWith('pointer') ? PointerEvent : MouseEvent)(kind, { ...options, detail: click }));
    }
    focusOn(element);
    if (button === 0) element.click();
    else element.dispatchEvent(new MouseEvent(button === 2 ? 'contextmenu' : 'auxclick', { ...options, detail: click }));
  }
  if (count === 2) element.dispatchEvent(new MouseEvent('dblclick', { ...options, detail: 2 }));
  return {};
}

// What has to be scrolled to, and how far that goes.
function scrollBy({ direction, pages }, element) {
  const scrolls = (at) => {
    const style = styleOf(at);
    return /auto|scroll|overlay/.test(`${style?.overflowY} ${style?.overflowX}`) && (at.scrollHeight > at.clientHeight || at.scrollWidth > at.clientWidth);
  };
  let area = element;
  while (area && area.nodeType === 1 && !scrolls(area)) area = parentOf(area);
  if (!area || area.nodeType !== 1) area = document.scrollingElement || document.documentElement;
  const [across, down] = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0], top: [0, -Infinity], bottom: [0, Infinity] }[direction];
  const step = (way, size, length) => (Number.isFinite(way) ? way * size * 0.9 * pages : Math.sign(way) * length);
  area.scrollBy({ left: step(across, area.clientWidth, 0), top: step(down, area.clientHeight, area.scrollHeight), behavior: 'instant' });
  return { x: Math.round(area.scrollLeft), y: Math.round(area.scrollTop), width: area.scrollWidth, height: area.scrollHeight, seen: area.clientHeight };
}
