"""What `learn solution` says below each solution: why it is right, and what else would be."""

WHY = {
    "where": "Python reads pyproject.toml's entry points without importing the package, so `import torch` finds every backend that is "
    "installed. Importing the package loads the library, whose registrations fill the table of kernels, and names the device last. "
    "A backend may also be imported by hand; then TORCH_DEVICE_BACKEND_AUTOLOAD=0 turns the entry point off.",
    "way": "`x @ w` is matmul, which is composite: it folds the two outer dimensions of x into one and calls mm, then views the result. "
    "`add` is structured: all its forms run the code of add.out, so that is the only kernel to write. With two batched matrices, "
    "3-D @ 3-D, it would be bmm.",
    "deleter": "PyTorch never calls deleter(address). The context is for whatever the deleter has to know: here the size. Another way is "
    "to pass the address as context and look the size up in a map; the map then needs a lock, since deleters run on any thread.",
    "owner": "A view is a second TensorImpl on the same Storage, and the Storage frees its memory when its last tensor goes. "
    "x.narrow(0, half, x.numel() - half) and x.slice() do the same. A DataPtr whose context holds a copy of x would keep the memory "
    "alive, too, but it is a second Storage: autograd and resize_ would not know that both are one memory.",
    "stride": "as_strided describes a place in the storage, so whatever x adds to that place has to be in it: its offset and its stride. "
    "x.slice(0, std::nullopt, std::nullopt, 2) computes the same numbers.",
    "gaps": "Sizes and strides say where each element is; numel() and the address don't. For any number of dimensions you would loop over "
    "them, or let at::TensorIterator do it. If x.is_non_overlapping_and_dense(), one run over the memory is right and faster.",
    "signature": "PyTorch compares the types of the function with the schema when the library is loaded, and ends the process if they "
    "differ; the macro compares them when the file is compiled. A wrapper, or a lambda with the right parameters that calls your function, "
    "is right as well.",
    "nan": "Every comparison with NaN is false, so NaN takes the branch behind the colon. std::max(x, 0) returns x for NaN and "
    "std::max(0, x) returns 0, which is why the order of its arguments matters. std::isnan(x) || x > 0 says it in words.",
    "layouts": "contiguous() costs a copy only if the tensor isn't contiguous. A kernel that knows strides needs no copy; and for a "
    "dense tensor, such as x.t(), you can keep its layout: empty_like(self) and one run over both memories.",
    "guard": "queue() takes the current stream of the current device, so that device has to be the tensor's. The guard sets it back when "
    "the kernel returns or throws. c10::OptionalDeviceGuard guard(device_of(self)) is PyTorch's own; LESSONS_KERNEL makes the guard for you.",
    "registration": "The macro defines a static object, whose constructor puts the guard into PyTorch's table when the library is loaded. "
    "You can write that object yourself: c10::impl::DeviceGuardImplRegistrar.",
    "restore": "A destructor runs on each way out: return, your own error, and errors of functions that you call. That is why moving the "
    "check to the top isn't enough: at::empty throws as well. A try block that sets the device back and throws again is right, and longer.",
    "wait": "wait_stream records an event on one stream and lets the other wait for it; the host only queues both. The longer form is "
    "event = current_stream().record_event(); side.wait_event(event). synchronize() gives the right numbers and stops the host, and work "
    "on a single stream can't overlap.",
    "reuse": "Memory is allocated for a stream: whoever gets it next is queued there, so that stream has to come after all users. The "
    "deleter can't use the current stream, since any thread may drop the last tensor while any stream or device is current. And since the "
    "pool gives a block only to its own stream, it can't give away another device's memory. You could also keep the events in the block and "
    "wait for them when it is reused, which delays nobody if it never is; that is what CUDA's allocator does, without waiting: it gives the "
    "block out only when its events are done.",
    "item": "item() is where the host waits, and it waits for one stream. The copy is queued behind the kernels that compute x. "
    "x.cpu() and item() do this as well. Waiting for the whole device gives the right number, and waits for streams that have nothing to do "
    "with x.",
    "hidden": "exp.out serves all three forms, since exp is structured. Three kernels, for exp, exp_ and exp.out, would be right as well, "
    "and are three times the work. The fallback hid it because its results are right.",
    "hooks": "The engine asks hasPrimaryContext before it makes your stream wait for the streams of backward(). It must not say yes for a "
    "device that nobody used: asking for its stream would create what a context costs on real hardware, such as memory on each card.",
    "fork": "fork() copies one thread. The device's threads and the driver's handles are gone in the child, and whoever waits for them waits "
    "forever, so the backend refuses. Another way is to remember getpid() when the library is loaded and to compare it. A check that runs "
    "once doesn't help: it has run already in the parent.",
    "composite": "A kernel for a composite operator hides the operators that it was made of, and their gradients with it. Other ways: "
    "leave square alone, and write mul; or write the kernel and say in a spec which formula its gradient has.",
    "choose": "The order is: can openreg-gen write the loop; if not, does the device have the loop; if not, does it have the whole operator. "
    "as_strided and nonzero don't fit, the first since it computes nothing, the second since its size depends on the values.",
    "meta": "A meta kernel computes sizes, dtype and layout, and never numbers. at::empty_symint with sym_size() keeps sizes that the "
    "compiler doesn't know yet. a.new_empty_symint does the same. In Python: torch.library.register_fake.",
    "autocast": "A rule says in which dtype an operator computes. pow makes large numbers of small ones, so it computes in float32, as do "
    "exp, log and sums on other devices. Each overload has a rule of its own.",
    "saved": "map_location with an index puts each storage on that device once, so tensors that shared it still do. A table, "
    "{'lessons:0': 'lessons:1', ...}, does as well. Loading to the CPU first costs a copy.",
    "flush": "Giving back comes last, because the device waits for its work before it frees memory. Real caches also give back only as much "
    "as is missing, or join and split blocks, so that 600 KiB can serve 300.",
    "record": "record_stream tells the allocator that one more stream uses the memory; when x is dropped, the memory waits for that stream. "
    "Another way is to keep x until the copy is done, for example in a list that you empty after event.query(): the memory then comes "
    "back later. The first stream could wait for `side`: right, and slow, since all its work waits.",
    "judge": "Each sample stands for one fault. The argument is compared afterwards, because a kernel must not write to it; the dtype, "
    "because assert_close compares it; both devices, because a forgotten guard shows on the second. OpInfo has samples for each operator.",
    "waits": "item() waits for everything that was queued before it. One call at the end waits once. A sum on the device, "
    "total += loss.detach(), needs no list. Printing every hundredth loss waits every hundredth time.",
    "writes": "The compiler reads only schemas. Tensor(a!) says that x is written, so the call stays, and it runs in its place. "
    "An operator that returns the new tensor and writes nothing needs no alias, and compiles to better code.",
    "program": "The key has to hold everything that the program depends on: the dtype here, elsewhere sizes, constants, the device and the "
    "compiler's options. A key of a struct or a pair works as well as a string. No cache at all is right, and a second per call.",
    "release": "PyTorch 1.12 gave gelu a second formula. Code that ignores an argument computes the old one and tells nobody. To refuse "
    "'tanh' with an error would be honest, too, but nn.GELU('tanh') would then stop working.",
    "conflict": "Two people changed the same lines for two reasons, and both reasons have to be in the result. Take the newer text and "
    "make your change again: NaN takes the last branch, so both comparisons have to be false for it.",
}
